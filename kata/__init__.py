"""Your kata: one module per part, filled in step by step."""
