package io.penstock.gateway.http;

import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.gateway.api.ApiException;
import io.penstock.gateway.api.ApiForm;
import io.penstock.gateway.api.ApiJson;
import io.penstock.gateway.api.Shown;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// `POST /v1/sessions/NAME` with `{"state": "PAUSED"}`: a client says that the next turn of a conversation comes later,
/// or that none comes.
///
/// @param name that the client gave
/// @param poolName that the pool knows
record SessionRequest(String name, String poolName, SessionState state, int priority, @Nullable Duration keep) {
  private static final int NOT_FOUND = 404;

  /// @param path without a query
  static String name(String path) {
    String name = RequestPath.behind(ApiForm.SESSIONS.path(), path);
    boolean isOne = path.indexOf('/', ApiForm.SESSIONS.path().length() + 1) < 0;
    if (isOne && !name.isEmpty() && name.length() <= SessionNames.MAX_CHARS) {
      return name;
    }
    throw new ApiException(NOT_FOUND, "path must be " + ApiForm.SESSIONS.path() + "/NAME, with a name of at most "
        + SessionNames.MAX_CHARS + " characters (was " + Shown.of(path) + ")");
  }

  /// @param most the greatest priority that the tenant may have
  static SessionRequest of(String name, String poolName, ObjectNode body, int most) {
    JsonNode priority = body.path("priority");
    if (!priority.isMissingNode() && (!priority.isInt() || priority.asInt() < 0
        || priority.asInt() > SessionUse.MOST_PRIORITY)) {
      throw ApiException.field("priority", "from 0 to " + SessionUse.MOST_PRIORITY, priority);
    }
    JsonNode keep = body.path("keep");
    return new SessionRequest(name, poolName, state(body.path("state")),
        Math.min(most, priority.asInt(most)),
        keep.isMissingNode() ? null : SessionNames.keep("keep", keep.asString("")));
  }

  private static SessionState state(JsonNode word) {
    try {
      return SessionState.valueOf(word.asString("").toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw ApiException.field("state", "ACTIVE, PAUSED or ENDED", word);
    }
  }

  SessionUse use() {
    return new SessionUse(SessionId.of(poolName), priority, keep);
  }

  /// The answer to the client.
  ///
  /// @param spaces that know the session
  ObjectNode answer(int spaces) {
    return ApiJson.object().put("id", name).put("object", "session").put("state", state.name())
        .put("known", spaces > 0).put("pool_session", poolName);
  }
}
