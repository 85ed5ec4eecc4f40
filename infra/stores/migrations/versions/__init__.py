"""One module a step; `revision` names it, `down_revision` the step before."""
