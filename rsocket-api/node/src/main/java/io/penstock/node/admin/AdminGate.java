package io.penstock.node.admin;

import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.handler.ssl.SslHandler;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.Caller;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.security.Grant;
import io.penstock.wire.security.Role;
import io.penstock.wire.transport.SourceAddress;
import io.rsocket.exceptions.RejectedSetupException;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLPeerUnverifiedException;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Who gets which answer of the admin endpoints: the name by which the node is called, the page that asks, the client's
/// certificate, the user and the role, in this order.
///
/// @param pages answers of those who may ask
/// @param passwords compares passwords, which takes time
/// @param timers clock of the attempts, which are counted together with those at the data port
record AdminGate(AdminOptions options, AdminPages pages, Scheduler passwords, Scheduler timers) {
  static final String HEALTH = "/health";

  /// @param request with a head that breaks no rule
  Mono<Page> answer(HttpRequest request, Channel channel) {
    HttpHeaders headers = request.headers();
    String host = headers.get(HttpHeaderNames.HOST);
    if (host != null && !new HostNames(options.names()).allows(host)) {
      return refused(HttpResponseStatus.MISDIRECTED_REQUEST,
          "host must be localhost, an address, or a name of admin.names, admin.host or advertise.host (was another)");
    }
    String origin = headers.get(HttpHeaderNames.ORIGIN);
    if (origin != null && !origin.equals((options.tls() == null ? "http://" : "https://") + host)) {
      return refused(HttpResponseStatus.FORBIDDEN, "origin must be that of the node (was another)");
    }
    if (!request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD)) {
      return refused(HttpResponseStatus.METHOD_NOT_ALLOWED, "method must be GET or HEAD (was another)");
    }
    QueryStringDecoder target = new QueryStringDecoder(request.uri());
    boolean briefly = options.openHealth() && target.path().equals(HEALTH);
    if (options.needsCertificate() && !hasCertificate(channel)) {
      return briefly
          ? pages.state()
          : refused(HttpResponseStatus.FORBIDDEN, "client must show a certificate that is trusted (showed none)");
    }
    return options.access().isOpen()
        ? pages.page(target, isForPeople(headers))
        : known(target, headers, channel, briefly);
  }

  private Mono<Page> known(QueryStringDecoder target, HttpHeaders headers, Channel channel, boolean briefly) {
    String shown = headers.get(HttpHeaderNames.AUTHORIZATION);
    if (shown == null) {
      return briefly
          ? pages.state()
          : refused(HttpResponseStatus.UNAUTHORIZED, "request must have credentials (had none)");
    }
    Optional<Credentials> credentials = Credentials.ofAuthorization(shown);
    if (credentials.isEmpty()) {
      return refused(HttpResponseStatus.BAD_REQUEST, "authorization must be Basic or Bearer (was another)");
    }
    return Mono.defer(() -> {
      Access.Attempt attempt = options.access().begin(credentials.get(), "admin",
          SourceAddress.of(channel.remoteAddress()), timers.now(TimeUnit.MILLISECONDS));
      Mono<Caller> caller = Mono.fromCallable(attempt::caller);
      return attempt.isHeavy() ? caller.subscribeOn(passwords) : caller;
    }).flatMap(caller -> allowed(target, isForPeople(headers), caller)).onErrorResume(RejectedSetupException.class,
        refusal -> refused(HttpResponseStatus.UNAUTHORIZED, String.valueOf(refusal.getMessage())));
  }

  /// The pages show all spaces.
  private Mono<Page> allowed(QueryStringDecoder target, boolean forPeople, Caller caller) {
    if (caller.role(Grant.EVERY).filter(role -> role.includes(Role.READER)).isPresent()) {
      return pages.page(target, forPeople);
    }
    return target.path().equals(HEALTH)
        ? pages.state()
        : refused(HttpResponseStatus.FORBIDDEN, "role must be reader in every space (was not)");
  }

  /// Whether HTML is named, and before JSON if that is named, too: as browsers do, and scripts do not.
  private static boolean isForPeople(HttpHeaders headers) {
    String accepted = headers.get(HttpHeaderNames.ACCEPT, "").toLowerCase(Locale.ROOT);
    int html = accepted.indexOf("text/html");
    int json = accepted.indexOf("application/json");
    return html >= 0 && (json < 0 || html < json);
  }

  private static Mono<Page> refused(HttpResponseStatus status, String why) {
    return Mono.just(Page.refused(status, why));
  }

  private static boolean hasCertificate(Channel channel) {
    SslHandler tls = channel.pipeline().get(SslHandler.class);
    try {
      return tls != null && tls.engine().getSession().getPeerCertificates().length > 0;
    } catch (SSLPeerUnverifiedException e) { // it showed none
      return false;
    }
  }
}
