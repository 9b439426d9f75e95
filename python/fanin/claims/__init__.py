"""What became of the papers' claims: judgements, records and the ledger."""
