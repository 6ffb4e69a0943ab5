package io.penstock.node.whatif;

import io.penstock.node.cli.DataException;
import io.penstock.node.cli.RefusedException;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.link.AdminClient;
import io.penstock.node.link.HostPort;
import io.penstock.node.link.NodePass;
import io.penstock.node.text.Json;
import io.penstock.node.text.Reason;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import javax.net.ssl.SSLException;
import tools.jackson.core.JacksonException;

/// Asks the admin server of a node for its estimate.
final class AdminLink {
  private AdminLink() {}

  /// @param patience longest wait for the answer
  /// @throws UnavailableException if no node answers there
  /// @throws RefusedException if the node takes other credentials
  /// @throws DataException if the answer has another form, such as that of another version
  static WhatIfAnswer whatIf(HostPort admin, NodePass pass, Duration patience) {
    try (AdminClient node = new AdminClient(admin, pass, patience)) {
      AdminClient.Answer answer = node.get("/whatif");
      return switch (answer.status()) {
        case 200 -> Json.MAPPER.readValue(answer.body(), WhatIfAnswer.class);
        case 401, 403, 421 -> throw new RefusedException(
            "the admin endpoints at %s refused the request (%s)".formatted(admin, answer.body().strip()));
        default -> throw new UnavailableException(
            "the admin endpoints at %s must answer with 200 (was %d)".formatted(admin, answer.status()));
      };
    } catch (JacksonException e) {
      throw new DataException(
          "the answer of the admin endpoints at %s must be in the form of this version (was not)".formatted(admin), e);
    } catch (ConnectException | HttpTimeoutException e) {
      throw new UnavailableException(
          "no admin server of a node is listening at " + admin + " (" + Reason.ofCause(e) + ")", e);
    } catch (SSLException e) {
      throw new UnavailableException(
          "the admin endpoints at %s must have TLS with a certificate that is trusted (%s)".formatted(admin,
              Reason.ofCause(e)),
          e);
    } catch (IOException e) {
      throw new UnavailableException(
          "--admin must be the admin port of a node, which `serve` prints (was %s, which does not answer in HTTP%s)"
              .formatted(admin, pass.tls() == null ? "; if it has TLS, --tls or --tls-trust must be given" : ""),
          e);
    }
  }
}
