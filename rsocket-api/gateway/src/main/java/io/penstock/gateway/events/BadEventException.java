package io.penstock.gateway.events;

import java.io.Serial;

/// A message is no batch of KV events.
final class BadEventException extends Exception {
  @Serial
  private static final long serialVersionUID = 1;

  BadEventException(String message) {
    super(message);
  }

  BadEventException(String message, Throwable cause) {
    super(message, cause);
  }
}
