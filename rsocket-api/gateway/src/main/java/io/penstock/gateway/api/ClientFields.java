package io.penstock.gateway.api;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// An engine blames the fields of the chat that a request became. The client is told the names of its own.
public final class ClientFields {
  private static final Map<String, String> RESPONSES = fields("max_completion_tokens", "max_output_tokens",
      "max_tokens", "max_output_tokens", "messages", "input", "response_format", "text.format", "reasoning_effort",
      "reasoning.effort");
  private static final Map<String, String> MESSAGES = fields("max_completion_tokens", "max_tokens", "stop",
      "stop_sequences", "response_format", "output_config.format", "reasoning_effort", "output_config.effort");

  private ClientFields() {}

  private static Map<String, String> fields(String... pairs) {
    Map<String, String> fields = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      fields.put(pairs[i], pairs[i + 1]);
    }
    return fields;
  }

  private static Map<String, String> of(ApiForm form) {
    return switch (form) {
      case RESPONSES -> RESPONSES;
      case MESSAGES -> MESSAGES;
      default -> Map.of();
    };
  }

  /// The client's name of a field.
  ///
  /// @param param null for none
  public static @Nullable String param(ApiForm form, @Nullable String param) {
    return param == null ? null : of(form).getOrDefault(param, param);
  }

  /// A message with the client's names. A field that is a word of English is one only at the begin.
  public static String message(ApiForm form, String message) {
    String named = message;
    for (Map.Entry<String, String> field : of(form).entrySet()) {
      String chat = field.getKey();
      named = named.replaceAll(chat.contains("_") ? "\\b" + chat + "\\b" : "^" + chat + "\\b", field.getValue());
    }
    return named;
  }
}
