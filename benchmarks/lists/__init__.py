"""What the lists that a pod's author writes cost a scheduling cycle."""
