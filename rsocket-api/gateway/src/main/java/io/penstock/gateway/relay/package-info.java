/// The life of a request: admission, choice of instances, legs, retries, and an answer that goes on when an engine
/// dies.
@NullMarked
package io.penstock.gateway.relay;

import org.jspecify.annotations.NullMarked;
