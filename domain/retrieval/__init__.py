"""The read path as pure functions: plan, anchor entry, fact scores, row scores, fusion (paper 2.4, A.3; design 4)."""
