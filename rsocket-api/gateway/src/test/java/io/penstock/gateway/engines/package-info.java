/// Scripted engines: small HTTP servers that enforce the rules of real engines. Their model is a function of the
/// prompt, so an answer through a gateway can be compared with the model's own. Keys and values travel over a
/// [KvNetwork].
@NullMarked
package io.penstock.gateway.engines;

import org.jspecify.annotations.NullMarked;
