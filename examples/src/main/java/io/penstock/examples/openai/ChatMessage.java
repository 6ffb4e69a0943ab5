package io.penstock.examples.openai;

import static java.util.Objects.requireNonNull;

import java.util.List;

/// One message of a conversation.
///
/// @param role `system`, `user`, `assistant` or any other
/// @param text the parts of the content that are text, in a row
public record ChatMessage(String role, String text) {
  public ChatMessage {
    requireNonNull(role, "role");
    requireNonNull(text, "text");
  }

  /// The plain template: each message after its role, then the role that answers. The prompt of a turn, with the answer
  /// and a newline behind it, begins the prompt of the next turn.
  public static String prompt(List<ChatMessage> messages) {
    StringBuilder prompt = new StringBuilder();
    for (ChatMessage message : messages) {
      prompt.append('<').append(message.role()).append('>').append(message.text()).append('\n');
    }
    return prompt.append("<assistant>").toString();
  }
}
