"""AutoDream on semantic memory: which anchors are compared, what may merge, and how merges add up (paper 2.5, A.5)."""
