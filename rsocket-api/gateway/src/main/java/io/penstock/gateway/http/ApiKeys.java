package io.penstock.gateway.http;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.penstock.gateway.api.ApiException;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.transport.SourceAddress;
import java.net.SocketAddress;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Who asks. A key is the token of a user of a file such as the node's; the user is the tenant. Keys come as
/// `Authorization: Bearer KEY`, or as `x-api-key: KEY`, as clients of `/v1/messages` send them.
public final class ApiKeys {
  private static final int UNAUTHORIZED = 401;
  private static final String KEY = "x-api-key";
  private static final String OPEN = "all";

  private final Access access;
  private final Supplier<QuotaFile> quotas;
  private final Scheduler timer;
  private final Scheduler passwords;
  private final Map<String, Tenant> tenants = new ConcurrentHashMap<>();

  /// @param access compares keys; open if none are needed
  /// @param quotas asked at each request
  /// @param timer the clock of quotas
  /// @param passwords compares what takes time
  public ApiKeys(Access access, Supplier<QuotaFile> quotas, Scheduler timer, Scheduler passwords) {
    this.access = access;
    this.quotas = quotas;
    this.timer = timer;
    this.passwords = passwords;
  }

  /// The tenant of a request, or an [ApiException] with status 401.
  Mono<Tenant> tenant(HttpHeaders headers, @Nullable SocketAddress from) {
    return access.isOpen() ? Mono.just(named(OPEN)) : Mono.defer(() -> known(headers, from));
  }

  /// Whether all clients are one tenant.
  boolean isOpen() {
    return access.isOpen();
  }

  Quota quota(Tenant tenant) {
    return quotas.get().of(tenant.name());
  }

  /// The tenants that have asked here, or elsewhere.
  Collection<Tenant> tenants() {
    return tenants.values();
  }

  Tenant named(String name) {
    return tenants.computeIfAbsent(name, Tenant::new);
  }

  private Mono<Tenant> known(HttpHeaders headers, @Nullable SocketAddress from) {
    String key = headers.get(KEY);
    String authorization = headers.get(HttpHeaderNames.AUTHORIZATION);
    if (key == null && authorization == null) {
      return Mono.error(new ApiException(UNAUTHORIZED, "request must have an API key (had none)"));
    }
    Optional<Credentials> shown = authorization == null ? bearer(key) : Credentials.ofAuthorization(authorization);
    if (shown.isEmpty()) {
      return Mono.error(new ApiException(UNAUTHORIZED, "authorization must be Bearer with an API key (was another)"));
    }
    return Mono.defer(() -> {
      Access.Attempt attempt = access.begin(shown.get(), "gateway", SourceAddress.of(from),
          timer.now(TimeUnit.MILLISECONDS));
      Mono<String> user = Mono.fromCallable(() -> attempt.caller().user());
      return attempt.isHeavy() ? user.subscribeOn(passwords) : user;
    }).map(this::named).onErrorMap(refusal -> new ApiException(UNAUTHORIZED, String.valueOf(refusal.getMessage())));
  }

  private static Optional<Credentials> bearer(@Nullable String key) {
    return key == null ? Optional.empty() : Optional.of(Credentials.bearer(key.toCharArray()));
  }
}
