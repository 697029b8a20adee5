"""Many answers judged side by side: the workers, their queue, and whose failure it was when ours broke."""
