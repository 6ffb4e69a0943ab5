package io.penstock.storage;

import io.penstock.storage.check.Damage;
import io.penstock.storage.engine.Location;

/// A record that was finished, and is not as it was written.
record DamagedRecord(Location at, Damage damage) {}
