/// Connections within one process.
@NullMarked
package io.penstock.wire.transport.local;

import org.jspecify.annotations.NullMarked;
