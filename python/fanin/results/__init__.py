"""What runs leave: the store, tables and data sets."""
