package io.penstock.node;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/// A question to the admin server of a node on this host.
public final class AdminRequest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private AdminRequest() {}

  /// @param path begins with a slash
  public static HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
    return get(port, path, "*/*");
  }

  /// @param accept media types that the client takes
  public static HttpResponse<String> get(int port, String path, String accept)
      throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      URI uri = URI.create("http://127.0.0.1:" + port + path);
      return client.send(HttpRequest.newBuilder(uri).timeout(PATIENCE).header("accept", accept).build(),
          BodyHandlers.ofString());
    }
  }
}
