/// How the tokens of a request's prompt are known, for the choice of an instance: from the request, from an engine's
/// tokenizer, or approximately from the text.
@NullMarked
package io.penstock.gateway.prompt;

import org.jspecify.annotations.NullMarked;
