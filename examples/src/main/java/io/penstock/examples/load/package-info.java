/// A load of chats for an OpenAI endpoint: conversations of several turns from a seed, at a fixed concurrency, with
/// times, cached tokens, and a comparison of every answer with the model in one process.
@NullMarked
package io.penstock.examples.load;

import org.jspecify.annotations.NullMarked;
