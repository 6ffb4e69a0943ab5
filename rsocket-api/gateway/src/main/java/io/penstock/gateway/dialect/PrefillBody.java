package io.penstock.gateway.dialect;

import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// The body of a prefill leg of vLLM: one token, and it must be the length that ends it. A leg that ends by a stop word
/// or an end token has its transfer cancelled by `MooncakeConnector`, so the body stops at neither.
final class PrefillBody {
  private static final List<String> REMOVED = List.of("stream_options", "min_tokens", "min_completion_tokens", "stop",
      "stop_token_ids", "include_stop_str_in_output", "best_of", "n");

  private PrefillBody() {}

  static ObjectNode of(EngineRequest request, ObjectNode transfer) {
    ObjectNode body = request.copy();
    body.remove(REMOVED);
    body.put("stream", false);
    body.put("max_tokens", 1);
    if (body.has("max_completion_tokens")) {
      body.put("max_completion_tokens", 1);
    }
    body.put("ignore_eos", true);
    body.set("kv_transfer_params", transfer);
    return body;
  }
}
