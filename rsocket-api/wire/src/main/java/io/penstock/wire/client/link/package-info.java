/// The client's end of one connection: messages become requests, replies become messages, and a silent node, a lost
/// connection and a refused rate each have an answer.
@NullMarked
package io.penstock.wire.client.link;

import org.jspecify.annotations.NullMarked;
