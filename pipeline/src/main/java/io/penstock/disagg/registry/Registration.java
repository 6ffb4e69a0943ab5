package io.penstock.disagg.registry;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.check.InternetAddress;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Rank;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/// The description that a rank gives of itself.
///
/// @param version of the protocol that it speaks
/// @param manifest of its instance; equal for all ranks of it
/// @param endpoint where it listens, already bound
/// @param engine the HTTP endpoint that computes with the blocks of this rank; null if the rank names none. It may
///     change from one registration of a rank to the next
public record Registration(Side side, Incarnation who, int version, Manifest manifest, Endpoint endpoint,
    @Nullable Engine engine) {
  private static final int MOST_PORT = 65_535;
  private static final int MOST_URL = 512;

  /// Role of an instance.
  public enum Side {
    PREFILL, DECODE
  }

  /// The host on which a rank lives, and its port there.
  public record Endpoint(String host, int port) {
    public Endpoint {
      host = InternetAddress.host(Checks.printable("host", host));
      if (port < 1 || port > MOST_PORT) {
        throw new IllegalArgumentException("port must be in [1, " + MOST_PORT + "] (was " + port + ")");
      }
    }

    @Override
    public String toString() {
      return InternetAddress.endpoint(host, port);
    }
  }

  /// An engine behind HTTP, for gateways that look for engines in the registry.
  ///
  /// @param url base of its endpoints; what a gateway must know about the engine may stand in the fragment
  /// @param isDraining whether it wants no new requests
  public record Engine(Role role, String url, boolean isDraining) {
    /// What an engine does for a request.
    public enum Role {
      /// Computes prompts.
      PREFILL,
      /// Generates from keys and values that it receives.
      DECODE,
      /// Does both.
      BOTH
    }

    public Engine {
      requireNonNull(role, "role");
      Checks.printable("url", url);
      if (url.length() > MOST_URL || !isHttp(url)) {
        throw new IllegalArgumentException("url must be an http or https URL with a host, of at most " + MOST_URL
            + " characters (was " + (url.length() > MOST_URL ? url.length() + " characters" : url) + ")");
      }
    }

    private static boolean isHttp(String url) {
      try {
        URI parsed = URI.create(url);
        return ("http".equals(parsed.getScheme()) || "https".equals(parsed.getScheme())) && parsed.getHost() != null;
      } catch (IllegalArgumentException e) {
        return false;
      }
    }
  }

  /// A rank that names no engine.
  public Registration(Side side, Incarnation who, int version, Manifest manifest, Endpoint endpoint) {
    this(side, who, version, manifest, endpoint, null);
  }

  public Registration {
    requireNonNull(side, "side");
    requireNonNull(who, "who");
    requireNonNull(manifest, "manifest");
    requireNonNull(endpoint, "endpoint");
    Checks.positive("version", version);
    if (InternetAddress.isOfOneHost(endpoint.host())) {
      throw new IllegalArgumentException(
          "host must be one that other hosts know: no wildcard, no address of a link (was " + endpoint.host() + ")");
    }
    int ranks = ranks(manifest);
    if (who.rank().rank() >= ranks) {
      throw new IllegalArgumentException("rank must be < " + ranks + ", the ranks of the manifest (was "
          + who.rank().rank() + ")");
    }
  }

  /// Ranks of an instance, over all its data-parallel replicas.
  static int ranks(Manifest manifest) {
    Parallelism parallelism = manifest.parallelism();
    return Math.multiplyExact(parallelism.ranks(), parallelism.dp());
  }

  /// The data-parallel replica that the rank belongs to.
  public int replica() {
    return who.rank().rank() / manifest.parallelism().ranks();
  }

  /// Its place in that replica.
  public Rank place() {
    return manifest.parallelism().rank(who.rank().rank() % manifest.parallelism().ranks());
  }

  /// This registration with an engine.
  public Registration withEngine(@Nullable Engine named) {
    return new Registration(side, who, version, manifest, endpoint, named);
  }
}
