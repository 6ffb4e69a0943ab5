package io.penstock.s3.sign;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/// An access key: with its secret a client signs requests.
///
/// @param id shown in each request
/// @param user of the node, who has its space and role
/// @param token that requests must show; null if they may show any
public record AccessKey(String id, String secret, String user, @Nullable String token) {
  public AccessKey {
    requireNonNull(id, "id");
    requireNonNull(secret, "secret");
    requireNonNull(user, "user");
  }

  /// Without the secret.
  @Override
  public String toString() {
    return id + " of " + user;
  }
}
