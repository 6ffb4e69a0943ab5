package io.penstock.node.admin;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.ServerTls;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Who may ask the admin endpoints, and how many at a time.
///
/// @param access users, as at the data port
/// @param tls null for none
/// @param needsCertificate whether a client must show a certificate that `tls` trusts
/// @param openHealth whether `/health` tells the state of the node, and no more, without credentials and certificate
/// @param names by which clients may call the node besides `localhost` and addresses: a name, `*.` before the end of
///     one, or `*` for any
/// @param connections maximum number of connections
/// @param timeout maximum time from the accept of a connection to the last byte of its answer
public record AdminOptions(Access access, @Nullable ServerTls tls, boolean needsCertificate, boolean openHealth,
    Set<String> names, int connections, Duration timeout) {
  public AdminOptions {
    requireNonNull(access, "access");
    names = Set.copyOf(names);
    Checks.positive("connections", connections);
    Checks.atLeastOneMilli("timeout", timeout);
  }

  /// Neither TLS nor users; 64 connections of 10 s at most.
  public static AdminOptions defaults() {
    return new AdminOptions(Access.open(), null, false, false, Set.of(), 64, Duration.ofSeconds(10));
  }

  /// Options with users.
  ///
  /// @param openHealth as of the record
  public AdminOptions withAccess(Access access, boolean openHealth) {
    return new AdminOptions(access, tls, needsCertificate, openHealth, names, connections, timeout);
  }

  /// Options with TLS.
  ///
  /// @param needsCertificate as of the record
  public AdminOptions withTls(ServerTls tls, boolean needsCertificate) {
    return new AdminOptions(access, tls, needsCertificate, openHealth, names, connections, timeout);
  }

  public AdminOptions withNames(Set<String> names) {
    return new AdminOptions(access, tls, needsCertificate, openHealth, names, connections, timeout);
  }

  public AdminOptions withBounds(int connections, Duration timeout) {
    return new AdminOptions(access, tls, needsCertificate, openHealth, names, connections, timeout);
  }
}
