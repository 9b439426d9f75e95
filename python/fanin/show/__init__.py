"""What people look at: plots, pages and reports."""
