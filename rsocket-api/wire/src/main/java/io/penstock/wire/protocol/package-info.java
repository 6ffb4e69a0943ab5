/// Version 1 of the protocol: routes, messages and their encodings, error codes and the failures that they become. Its
/// messages are records of its own; `PROTOCOL.md` says what they mean.
@NullMarked
package io.penstock.wire.protocol;

import org.jspecify.annotations.NullMarked;
