/// Blocks at rest on this machine: tiers that keep sealed blocks in files, behind one small port for the
/// engine that appends a record and finds it again. Nothing of an engine shows in a signature here.
@NullMarked
package io.penstock.storage;

import org.jspecify.annotations.NullMarked;
