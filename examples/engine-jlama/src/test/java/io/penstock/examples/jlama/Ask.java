package io.penstock.examples.jlama;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// Questions to an OpenAI endpoint, in tokens.
final class Ask implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.shared();

  private final HttpClient http = HttpClient.newHttpClient();

  /// What a completion said.
  record Answer(int status, JsonNode body) {
    int[] tokens() {
      return body.at("/choices/0/token_ids").valueStream().mapToInt(JsonNode::asInt).toArray();
    }

    int cachedTokens() {
      return body.at("/usage/prompt_tokens_details/cached_tokens").asInt();
    }
  }

  /// @param transfer `kv_transfer_params` of the request; null for none
  static ObjectNode completion(int[] prompt, int maxTokens, JsonNode transfer) {
    ObjectNode request = JSON.createObjectNode().put("max_tokens", maxTokens).put("return_token_ids", true)
        .put("ignore_eos", true);
    request.set("prompt", JSON.valueToTree(prompt));
    return transfer == null ? request : request.set("kv_transfer_params", transfer);
  }

  Answer post(String address, String path, ObjectNode request) throws IOException, InterruptedException {
    HttpResponse<String> response = http.send(HttpRequest.newBuilder(URI.create("http://" + address + path))
        .POST(HttpRequest.BodyPublishers.ofString(request.toString())).build(), HttpResponse.BodyHandlers.ofString());
    return new Answer(response.statusCode(), JSON.readTree(response.body()));
  }

  Answer complete(String address, int[] prompt, int maxTokens) throws IOException, InterruptedException {
    return post(address, "/v1/completions", completion(prompt, maxTokens, null));
  }

  static int[] joined(int[]... parts) {
    return Arrays.stream(parts).flatMapToInt(Arrays::stream).toArray();
  }

  @Override
  public void close() {
    http.close();
  }
}
