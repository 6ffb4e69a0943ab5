package io.penstock.gateway;

import io.penstock.gateway.api.ApiJson;
import io.penstock.node.setting.Setting;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/// A gateway on free ports, for tests of this module and of those above.
public final class TestGateway implements AutoCloseable {
  private final Gateway gateway;

  private TestGateway(Gateway gateway) {
    this.gateway = gateway;
  }

  /// Starts a gateway, and waits until some instances answer.
  ///
  /// @param settings by their keys; ports are free ones unless they are given
  /// @param answering instances that answer requests
  public static TestGateway start(Map<String, String> settings, int answering) throws IOException,
      InterruptedException {
    Map<Setting<?>, String> flags = new LinkedHashMap<>(Map.of(GatewaySettings.PORT, "0", GatewaySettings.ADMIN_PORT,
        "0", GatewaySettings.HEALTH_INTERVAL, "50ms"));
    for (Setting<?> setting : GatewaySettings.ALL) {
      String text = settings.get(setting.key());
      if (text != null) {
        flags.put(setting, text);
      }
    }
    TestGateway started = new TestGateway(Gateway.start(GatewayConfig.resolve(null, Map.of(), flags)));
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpRequest health = HttpRequest.newBuilder(URI.create(started.url() + "/health")).build();
      JsonNode state = ApiJson.object();
      while (state.path("instances").asInt() < answering) { // the first probes take some milliseconds
        state = ApiJson.MAPPER.readTree(http.send(health, HttpResponse.BodyHandlers.ofString()).body());
      }
    }
    return started;
  }

  /// The base of its endpoints.
  public String url() {
    return gateway.url();
  }

  /// `host:port` of the administration.
  public String admin() {
    return String.valueOf(gateway.ready().admin());
  }

  @Override
  public void close() {
    gateway.close();
  }
}
