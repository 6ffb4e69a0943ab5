package io.penstock.gateway.relay;

import io.penstock.gateway.api.ApiException;
import io.penstock.gateway.api.ApiForm;
import io.penstock.gateway.api.ChatRequests;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A request as its client wrote it, for engines that answer in the client's form.
///
/// @param form `/v1/responses` or `/v1/messages`
/// @param body the client's; it is not changed
/// @param chat the request as a chat, for other engines; the client's body if it cannot become one
/// @param refusal why the request cannot become a chat; null if it can
public record OwnForm(ApiForm form, ObjectNode body, ObjectNode chat, @Nullable ApiException refusal) {
  /// Reads a request.
  ///
  /// @throws ApiException with status 400 if no engine could answer it
  public static OwnForm of(ApiForm form, ObjectNode body) {
    ChatRequests.requireOwn(form, body);
    try {
      return new OwnForm(form, body, ChatRequests.of(form, body), null);
    } catch (ApiException refusal) {
      return new OwnForm(form, body, body, refusal);
    }
  }
}
