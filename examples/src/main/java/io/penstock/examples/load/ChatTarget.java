package io.penstock.examples.load;

import tools.jackson.databind.node.ObjectNode;

/// Where chats are sent.
interface ChatTarget {
  /// Sends a chat and waits for its end. Failures are in the reply.
  ///
  /// @param body of `/v1/chat/completions`, a stream with usage
  ChatReply chat(ObjectNode body) throws InterruptedException;
}
