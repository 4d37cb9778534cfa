"""Others that land many branches on this machine, measured in the same run on the same branches and the same checks."""
