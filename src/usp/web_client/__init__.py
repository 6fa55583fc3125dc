"""What asks the web: abstract clients for users to implement, and ours on requests and aiohttp."""
