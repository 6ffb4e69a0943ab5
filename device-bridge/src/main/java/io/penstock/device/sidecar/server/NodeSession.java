package io.penstock.device.sidecar.server;

import io.penstock.KvException;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.SideCarServerOptions;
import io.penstock.device.sidecar.link.FrameCodec.MalformedFrameException;
import io.penstock.device.sidecar.link.Link;
import io.penstock.device.sidecar.link.Link.Frame;
import io.penstock.device.sidecar.link.SideCarMessage;
import io.penstock.device.sidecar.link.SideCarMessage.Bye;
import io.penstock.device.sidecar.link.SideCarMessage.Copy;
import io.penstock.device.sidecar.link.SideCarMessage.Done;
import io.penstock.device.sidecar.link.SideCarMessage.Failed;
import io.penstock.device.sidecar.link.SideCarMessage.Hello;
import io.penstock.device.sidecar.link.SideCarMessage.Keep;
import io.penstock.device.sidecar.link.SideCarMessage.Ping;
import io.penstock.device.sidecar.link.SideCarMessage.Query;
import io.penstock.device.sidecar.link.SideCarMessage.Register;
import io.penstock.device.sidecar.link.SideCarMessage.Unregister;
import io.penstock.device.sidecar.link.SideCarMessage.Welcome;
import io.penstock.device.sidecar.server.RegionOpener.RegionOwner;
import io.penstock.operator.Serial;
import java.nio.file.attribute.UserPrincipal;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// One connection of a client, as the node sees it.
final class NodeSession implements Link.Events {
  private final SideCarNode node;
  private final Serial mailbox;
  private final UserPrincipal user;
  /// This and the fields below belong to the mailbox.
  private @Nullable Link link;
  private @Nullable NodeClient client;
  private boolean greeted;
  private boolean welcome;
  private boolean over;
  /// Requests that wait for their answer.
  private int open;
  private long heardNanos;

  NodeSession(SideCarNode node, Serial mailbox, UserPrincipal user) {
    this.node = node;
    this.mailbox = mailbox;
    this.user = user;
    this.heardNanos = node.nanos();
  }

  @Override
  public void opened(Link opened) {
    mailbox.run(() -> {
      link = opened;
      if (over) {
        opened.close();
      } else {
        node.enter(this);
      }
    });
  }

  @Override
  public void received(Frame frame) {
    mailbox.run(() -> {
      if (!over) {
        heardNanos = node.nanos();
        answer(frame);
      }
    });
  }

  @Override
  public void malformed(MalformedFrameException problem) {
    mailbox.run(
        () -> end(problem.request(),
            node.workers().refused(problem.code(), SideCarFailure.NO_REGION, problem.found())));
  }

  @Override
  public void closed(KvException why) {
    mailbox.run(() -> {
      gone();
      node.leave(this);
    });
  }

  private void answer(Frame frame) {
    switch (frame.message()) {
      case Ping _ when greeted -> send(frame.request(), new Done());
      case Hello hello when !greeted -> {
        greeted = true;
        node.admit(this, hello, frame.request());
      }
      case SideCarMessage request when client != null && welcome -> answer(client, request, frame.request());
      case SideCarMessage other ->
        end(frame.request(), node.workers().refused(SideCarCode.MALFORMED, SideCarFailure.NO_REGION,
            other.getClass().getSimpleName() + " out of turn"));
    }
  }

  private void answer(NodeClient of, SideCarMessage request, long number) {
    int most = node.workers().options().maxOpen();
    if (open == most) {
      end(number, node.workers().refused(SideCarCode.TOO_MANY, SideCarFailure.NO_REGION,
          most + " requests wait for their answers"));
      return;
    }
    open++;
    Consumer<SideCarMessage> reply = message -> {
      open--;
      send(number, message);
    };
    switch (request) {
      case Keep keep -> of.keep(keep.regions(), reply);
      case Register register -> of.register(register, reply);
      case Unregister unregister -> of.unregister(unregister.region(), reply);
      case Copy copy -> of.copy(copy, reply);
      case Query query -> reply.accept(of.state(query.region()));
      case Bye _ -> of.leave(() -> reply.accept(new Done()));
      default -> end(number, node.workers().refused(SideCarCode.MALFORMED, SideCarFailure.NO_REGION, "no request"));
    }
  }

  /// This session continues with `of`, when the work of an earlier one has ended.
  void attach(NodeClient of, long request) {
    client = of;
    of.attach(this, () -> {
      if (!over) {
        welcome = true;
        send(request, new Welcome(node.workers().options().maxCopies()));
      }
    });
  }

  RegionOwner owner(int process) {
    return new RegionOwner(user, process);
  }

  boolean isOver() {
    return over;
  }

  boolean isSilentFor(long nanos) {
    return node.nanos() - heardNanos > nanos;
  }

  private void send(long request, SideCarMessage message) {
    if (!over && link != null) {
      link.send(new Frame(request, message));
    }
  }

  /// Sends `why`, and hangs up once that is sent, or when the client does not read.
  void end(long request, Failed why) {
    if (!over && link != null) {
      link.sendLast(new Frame(request, why));
    }
    gone();
  }

  /// Closes the connection; the client's regions stay.
  void yieldTo() {
    client = null;
    hangUp();
  }

  void hangUp() {
    if (link != null) {
      link.close();
    }
    gone();
    node.leave(this);
  }

  private void gone() {
    if (over) {
      return;
    }
    over = true;
    NodeClient mine = client;
    if (mine != null) {
      mine.leave(() -> {});
    }
  }

  /// Nanoseconds of the options' time to live.
  static long nanos(SideCarServerOptions options) {
    return TimeUnit.MILLISECONDS.toNanos(options.timeToLive().toMillis());
  }
}
