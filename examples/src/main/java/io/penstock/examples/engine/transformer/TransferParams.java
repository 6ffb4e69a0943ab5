package io.penstock.examples.engine.transformer;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/// `kv_transfer_params` in the words of the NIXL pull connector of vLLM: a prefill answers where its blocks are, and
/// the decode gets the answer with its request.
///
/// @param host where the prefill hands blocks over
record TransferParams(String host, int port) {
  /// Whether a request asks for blocks that a decode will pull.
  static boolean asksForBlocks(@Nullable JsonNode request) {
    return request != null && request.path("do_remote_decode").asBoolean(false);
  }

  /// Where to pull from, if the request says so.
  static Optional<TransferParams> source(@Nullable JsonNode request) {
    if (request == null || !request.path("do_remote_prefill").asBoolean(false)) {
      return Optional.empty();
    }
    JsonNode host = request.path("remote_host");
    JsonNode port = request.path("remote_port");
    if (!host.isString() || !port.isInt()) {
      throw new IllegalArgumentException("kv_transfer_params must have remote_host and remote_port (was " + request
          + ")");
    }
    return Optional.of(new TransferParams(host.asString(), port.asInt()));
  }

  /// The answer of a prefill.
  ///
  /// @param engine name of the prefill
  /// @param blocks of the prompt that it holds
  JsonNode answer(String engine, String request, int blocks) {
    var answer = JsonNodeFactory.instance.objectNode().put("do_remote_prefill", true).put("do_remote_decode", false)
        .put("remote_engine_id", engine).put("remote_request_id", request).put("remote_host", host)
        .put("remote_port", port).put("tp_size", 1);
    var ids = answer.putArray("remote_block_ids");
    for (int block = 0; block < blocks; block++) {
      ids.add(block);
    }
    return answer;
  }

  /// As a node's address.
  String address() {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }
}
