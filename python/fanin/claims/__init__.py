"""Verdicts on the papers' claims: judgements, records and the ledger."""
