package io.penstock.node.whatif;

import io.penstock.node.cli.DataException;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.link.HostPort;
import io.penstock.node.text.Json;
import io.penstock.node.text.Reason;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import tools.jackson.core.JacksonException;

/// Asks the admin server of a node for its estimate.
final class AdminLink {
  private AdminLink() {}

  /// @param patience longest wait, once for the connection and once for the answer
  /// @throws UnavailableException if no node answers there
  /// @throws DataException if the answer has another form, such as that of another version
  static WhatIfAnswer whatIf(HostPort admin, Duration patience) throws InterruptedException {
    URI uri = admin.http("/whatif");
    try (HttpClient http = HttpClient.newBuilder().connectTimeout(patience).build()) {
      HttpResponse<String> answer =
          http.send(HttpRequest.newBuilder(uri).timeout(patience).build(), BodyHandlers.ofString());
      if (answer.statusCode() != 200) {
        throw new UnavailableException("%s must answer with 200 (was %d)".formatted(uri, answer.statusCode()));
      }
      return Json.MAPPER.readValue(answer.body(), WhatIfAnswer.class);
    } catch (JacksonException e) {
      throw new DataException("the answer of %s must be in the form of this version (was not)".formatted(uri), e);
    } catch (ConnectException | HttpTimeoutException e) {
      throw new UnavailableException(
          "no admin server of a node is listening at " + admin + " (" + Reason.ofCause(e) + ")", e);
    } catch (IOException e) {
      throw new UnavailableException(
          "--admin must be the admin port of a node, which `serve` prints (was %s, which does not answer in HTTP)"
              .formatted(admin),
          e);
    }
  }
}
