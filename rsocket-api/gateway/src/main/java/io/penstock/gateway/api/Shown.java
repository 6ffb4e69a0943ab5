package io.penstock.gateway.api;

import org.jspecify.annotations.Nullable;

/// Values of clients in messages: in quotes, and short.
public final class Shown {
  private static final int MOST = 80;

  private Shown() {}

  /// @param value null for one that is missing
  public static String of(@Nullable String value) {
    if (value == null) {
      return "missing";
    }
    StringBuilder shown = new StringBuilder();
    ApiJson.quoted(value.length() > MOST ? value.substring(0, MOST) + "…" : value, shown);
    return shown.toString();
  }
}
