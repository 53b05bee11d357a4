struct Lost {}  // PLANTED folders
