"""From an original, an embedded profile or a user's file to the counts of a dataset."""
