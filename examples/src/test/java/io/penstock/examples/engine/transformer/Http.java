package io.penstock.examples.engine.transformer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// What tests ask engines over HTTP.
final class Http {
  static final JsonMapper JSON = JsonMapper.shared();
  private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private Http() {}

  static ObjectNode completion(int[] prompt, int maxTokens) {
    ObjectNode body = JSON.createObjectNode().put("max_tokens", maxTokens).put("return_token_ids", true);
    body.set("prompt", JSON.valueToTree(prompt));
    return body;
  }

  /// @param headers names and values
  private static HttpRequest request(String address, String path, JsonNode body, String... headers) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://" + address + path))
        .POST(BodyPublishers.ofString(body.toString()));
    return (headers.length == 0 ? request : request.headers(headers)).build();
  }

  static CompletableFuture<JsonNode> posted(String address, String path, JsonNode body) {
    return CLIENT.sendAsync(request(address, path, body), BodyHandlers.ofString())
        .thenApply(response -> JSON.readTree(response.body()));
  }

  static JsonNode post(String address, String path, JsonNode body, String... headers)
      throws IOException, InterruptedException {
    HttpResponse<String> response = CLIENT.send(request(address, path, body, headers), BodyHandlers.ofString());
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JSON.readTree(response.body());
  }

  /// Completes on a prefill, then on a decode, as a proxy does for a NIXL pull.
  static JsonNode disaggregated(String prefill, String decode, int[] prompt, int maxTokens, String... headers)
      throws IOException, InterruptedException {
    ObjectNode first = completion(prompt, 1);
    first.putObject("kv_transfer_params").put("do_remote_decode", true).put("do_remote_prefill", false);
    @Nullable JsonNode transfer = post(prefill, "/v1/completions", first, headers).get("kv_transfer_params");
    ObjectNode second = completion(prompt, maxTokens);
    second.set("kv_transfer_params", transfer);
    return post(decode, "/v1/completions", second, headers);
  }

  static List<Integer> tokens(JsonNode answer) {
    return answer.at("/choices/0/token_ids").valueStream().map(JsonNode::asInt).toList();
  }

  static int cached(JsonNode answer) {
    return answer.at("/usage/prompt_tokens_details/cached_tokens").asInt();
  }
}
