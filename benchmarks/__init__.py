"""Speed against peers: each script says what it measures, and prints ratios of one run."""
