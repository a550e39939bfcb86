"""The study of the AP1000's communication operations by Makino and Shibusawa, 1997."""
