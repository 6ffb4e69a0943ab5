package io.penstock.gateway.relay;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A request of a client, as engines understand it.
///
/// @param path the endpoint of engines
/// @param body the JSON; it is not changed
/// @param id the request's id
/// @param headers headers that go with every leg
/// @param bytes of the client's body
/// @param priority from 0 to 7; 7 is served first
/// @param session that the request belongs to; null for none
/// @param own the request in the client's own form; null if engines are not asked in it
public record RelayRequest(String path, ObjectNode body, String id, Map<String, String> headers, long bytes,
    int priority, @Nullable String session, @Nullable OwnForm own) {
  /// The greatest priority.
  public static final int MAX_PRIORITY = 7;

  public RelayRequest {
    headers = Map.copyOf(headers);
    if (priority < 0 || priority > MAX_PRIORITY) {
      throw new IllegalArgumentException("priority must be from 0 to " + MAX_PRIORITY + " (was " + priority + ")");
    }
  }

  /// A request that engines are not asked in the client's own form.
  public RelayRequest(String path, ObjectNode body, String id, Map<String, String> headers, long bytes, int priority,
      @Nullable String session) {
    this(path, body, id, headers, bytes, priority, session, null);
  }

  /// The model that is asked for; an empty text if the request names none.
  String model() {
    return body.path("model").asString("");
  }

  boolean isStream() {
    return body.path("stream").asBoolean(false);
  }
}
