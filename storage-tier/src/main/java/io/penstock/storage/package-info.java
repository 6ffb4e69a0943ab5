/// Blocks stored on this machine: a journal of records in segments, as a store and as a tier. No library of an engine
/// shows in a signature. Engines are in `engine`, the bytes of a record in `record`.
@NullMarked
package io.penstock.storage;

import org.jspecify.annotations.NullMarked;
