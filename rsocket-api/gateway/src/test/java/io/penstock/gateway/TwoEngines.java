package io.penstock.gateway;

import io.penstock.gateway.api.ApiJson;
import io.penstock.node.setting.Setting;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/// A gateway before two engines, and its clients over sockets.
abstract class TwoEngines {
  static final String COMPLETION = "{\"model\":\"m\",\"prompt\":\"hello\",\"max_tokens\":6%s}";
  static final String CHAT =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],\"max_tokens\":6%s}";
  static final String RESPONSE = "{\"model\":\"m\",\"input\":\"hello\",\"max_output_tokens\":6%s}";
  static final Duration SOON = Duration.ofSeconds(10);
  static final String STREAM = ",\"stream\":true";
  static final String USAGE = ",\"stream\":true,\"stream_options\":{\"include_usage\":true}";
  /// Shared by all cases: its threads outlive a gateway.
  static final HttpClient HTTP = HttpClient.newHttpClient();
  final LogLines access = new LogLines(LogLines.ACCESS);
  final List<String> lines = access.lines();
  final TokenEngine one = new TokenEngine();
  final TokenEngine two = new TokenEngine();
  Path folder = Path.of("");
  @SuppressWarnings("NullAway.Init") // each case, or its class, begins with open()
  Gateway gateway;

  /// Starts a gateway before both engines.
  ///
  /// @param files where its token and other files are
  void open(Path files) throws Exception {
    folder = files;
    gateway = started(Map.of());
  }

  /// Makes the engines as they were at first.
  void renew() {
    for (TokenEngine engine : List.of(one, two)) {
      engine.renew();
    }
    lines.clear();
  }

  void shut() {
    gateway.close();
    one.close();
    two.close();
    access.close();
  }

  Gateway started(Map<Setting<?>, String> more) throws Exception {
    Map<Setting<?>, String> flags = new HashMap<>(Map.of(GatewaySettings.PORT, "0", GatewaySettings.ADMIN_PORT, "0",
        GatewaySettings.BOTH, one.url() + "," + two.url(), GatewaySettings.POLICY, "round_robin",
        GatewaySettings.ADMIN_TOKEN, folder.resolve("token").toString(), GatewaySettings.BODY_BYTES, "4KiB",
        GatewaySettings.HEALTH_INTERVAL, "100ms"));
    flags.putAll(more);
    Gateway made = Gateway.start(GatewayConfig.resolve(null, Map.of(), flags));
    int answering = 0;
    while (answering < 2) { // the first probes take some milliseconds
      answering = tree(send(request(made.url() + "/health").GET().build())).path("instances").asInt();
    }
    return made;
  }

  static HttpRequest.Builder request(String url) {
    return HttpRequest.newBuilder(URI.create(url));
  }

  HttpResponse<String> send(HttpRequest request) throws IOException, InterruptedException {
    return HTTP.send(request, HttpResponse.BodyHandlers.ofString());
  }

  HttpResponse<String> post(String path, String body, String... headers) throws Exception {
    HttpRequest.Builder request = request(gateway.url() + path).header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body));
    for (int i = 0; i < headers.length; i += 2) {
      request.setHeader(headers[i], headers[i + 1]);
    }
    return send(request.build());
  }

  HttpResponse<String> admin(String method, String path, String body) throws Exception {
    return send(request("http://" + gateway.ready().admin() + path).header("Content-Type", "application/json")
        .header("Authorization", "Bearer " + Files.readString(folder.resolve("token")).strip())
        .method(method, HttpRequest.BodyPublishers.ofString(body)).build());
  }

  static JsonNode tree(HttpResponse<String> response) {
    return ApiJson.MAPPER.readTree(response.body());
  }

  static List<JsonNode> events(String body) {
    List<JsonNode> events = new ArrayList<>();
    body.lines().filter(line -> line.startsWith("data: {"))
        .forEach(line -> events.add(ApiJson.MAPPER.readTree(line.substring(6))));
    return events;
  }

  static String text(List<JsonNode> events, boolean chat) {
    return events.stream().map(event -> event.path("choices").path(0))
        .map(choice -> (chat ? choice.path("delta").path("content") : choice.path("text")).asString(""))
        .collect(Collectors.joining());
  }
}
