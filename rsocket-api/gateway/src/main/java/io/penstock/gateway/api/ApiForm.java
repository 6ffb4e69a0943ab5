package io.penstock.gateway.api;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The form of an endpoint: how its requests, answers and errors look.
public enum ApiForm {
  COMPLETIONS("/v1/completions"),
  CHAT("/v1/chat/completions"),
  RESPONSES("/v1/responses"),
  MESSAGES("/v1/messages"),
  MODELS("/v1/models"),
  /// States of sessions. No request of this form goes to an engine.
  SESSIONS("/v1/sessions");

  private final String path;

  ApiForm(String path) {
    this.path = path;
  }

  public String path() {
    return path;
  }

  /// The endpoint of engines that answers requests of this form.
  public String enginePath() {
    return this == COMPLETIONS ? COMPLETIONS.path : CHAT.path;
  }

  /// The form of a path; null if no form has it.
  public static @Nullable ApiForm ofPath(String path) {
    if (path.startsWith(SESSIONS.path + "/")) {
      return SESSIONS;
    }
    return path.startsWith(MODELS.path + "/")
        ? MODELS
        : Arrays.stream(values()).filter(form -> form.path.equals(path)).findFirst().orElse(null);
  }
}
