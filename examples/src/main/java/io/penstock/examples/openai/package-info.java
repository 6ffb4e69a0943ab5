/// A small OpenAI endpoint for an engine: HTTP, JSON, streaming and a bounded queue in front of the port
/// [io.penstock.examples.openai.Engine].
@NullMarked
package io.penstock.examples.openai;

import org.jspecify.annotations.NullMarked;
