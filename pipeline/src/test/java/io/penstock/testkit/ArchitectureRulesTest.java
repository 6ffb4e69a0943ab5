package io.penstock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.Signature;
import java.lang.classfile.attribute.SignatureAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Breaks the house on purpose, with class files made here, and expects to be told.
final class ArchitectureRulesTest {
  @TempDir
  Path classes;

  @Test
  void fieldAgainstAnArrow_isReported() throws IOException {
    write("io.penstock.block.Low", type -> type.withField("high", ClassDesc.of("io.penstock.flow.High"), 0));

    assertThat(violations()).containsExactly("io.penstock.block.Low must not import io.penstock.flow.High");
  }

  @Test
  void typeArgumentAgainstAnArrow_isReported() throws IOException {
    write(
        "io.penstock.pool.Low",
        type -> type.withField(
            "highs",
            ClassDesc.of("java.util.List"),
            field -> field
                .with(SignatureAttribute.of(Signature.parseFrom("Ljava/util/List<Lio/penstock/tier/High;>;")))));

    assertThat(violations()).containsExactly("io.penstock.pool.Low must not import io.penstock.tier.High");
  }

  @Test
  void operatorThatLosesRequests_isReported() throws IOException {
    ClassDesc flux = ClassDesc.of("reactor.core.publisher.Flux");
    MethodTypeDesc type = MethodTypeDesc.of(flux, ClassDesc.of("org.reactivestreams.Publisher"));
    write("io.penstock.node.Late",
        late -> late.withMethodBody("go", MethodTypeDesc.of(ConstantDescs.CD_void), ClassFile.ACC_STATIC,
            code -> code.aconst_null().aconst_null().invokevirtual(flux, "concatWith", type).pop().return_()));

    assertThat(violations()).singleElement().asString()
        .startsWith("io.penstock.node.Late must put streams in turn with InTurn, not ");
  }

  @Test
  void arrowsAlong_areAllowedAndReachThrough() throws IOException {
    write("io.penstock.flow.High", type -> type.withField("low", ClassDesc.of("io.penstock.block.Low"), 0));
    write("io.penstock.block.Low", type -> type.withField("root", ClassDesc.of("io.penstock.KvException"), 0));

    assertThat(violations()).isEmpty();
  }

  @Test
  void libraryOutsideItsRoom_isReported() throws IOException {
    write("io.penstock.storage.Reader", type -> type.withField("buffer", ClassDesc.of("io.netty.buffer.ByteBuf"), 0));
    write("io.penstock.block.Words", type -> type.withField("flux", ClassDesc.of("reactor.core.publisher.Flux"), 0));

    assertThat(violations())
        .containsExactly(
            "io.penstock.block.Words must not import reactor.core.publisher.Flux",
            "io.penstock.storage.Reader must not import io.netty.buffer.ByteBuf");
  }

  @Test
  void nativeCallsOutsideTheirPackages_areReported() throws IOException {
    for (String name : List.of("system.Calls", "device.ascend.Driver", "device.memory.Pages", "storage.Pages")) {
      write("io.penstock." + name, type -> type.withField("linker", ClassDesc.of("java.lang.foreign.Linker"), 0));
    }

    assertThat(violations())
        .containsExactly(
            "io.penstock.device.memory.Pages must not import java.lang.foreign.Linker",
            "io.penstock.storage.Pages must not import java.lang.foreign.Linker");
  }

  @Test
  void packageThatIsExportedToOtherModules_isReported() throws IOException {
    Exports exports = Exports.parse("module io.penstock {\n exports io.penstock.block;\n exports io.penstock.meter to"
        + " io.penstock.node,\n io.penstock.wire;\n}");
    for (String room : List.of("wire", "storage", "tier")) {
      write("io.penstock." + room + ".Any", type -> type
          .withField("word", ClassDesc.of("io.penstock.block.Low"), 0)
          .withField("pool", ClassDesc.of("io.penstock.pool.Kept"), 0)
          .withField("meter", ClassDesc.of("io.penstock.meter.Gauge"), 0));
    }

    assertThat(ArchitectureRules.with(exports, Set.of()).violationsIn(classes)).containsExactly(
        "io.penstock.storage.Any must not see io.penstock.meter.Gauge, whose package is not exported to its module",
        "io.penstock.storage.Any must not see io.penstock.pool.Kept, whose package is not exported to its module",
        "io.penstock.tier.Any must not import io.penstock.meter.Gauge",
        "io.penstock.wire.Any must not see io.penstock.pool.Kept, whose package is not exported to its module");
  }

  @Test
  void typeThatAnotherModuleKeeps_isReported() throws IOException {
    Exports exports = Exports.parse("module io.penstock {\n exports io.penstock.block;\n}");
    write("io.penstock.wire.Any", type -> type.withField("part", ClassDesc.of("io.penstock.block.Kept$Part"), 0));

    assertThat(ArchitectureRules.with(exports, Set.of("io.penstock.block.Kept")).violationsIn(classes)).containsExactly(
        "io.penstock.wire.Any must not see io.penstock.block.Kept$Part, which is public only between rooms of its"
            + " module");
  }

  @Test
  void operatorOfTimeWithoutScheduler_isReported() throws IOException {
    ClassDesc mono = ClassDesc.of("reactor.core.publisher.Mono");
    MethodTypeDesc delay = MethodTypeDesc.of(mono, ClassDesc.of("java.time.Duration"));
    write(
        "io.penstock.stage.Slow",
        type -> type.withMethodBody(
            "wait", delay, ClassFile.ACC_STATIC, code -> code.aload(0).invokestatic(mono, "delay", delay).areturn()));

    assertThat(violations()).singleElement().asString()
        .contains("io.penstock.stage.Slow must be given the scheduler of", "delay");
  }

  @Test
  void packageThatIsNoRoom_isReported() throws IOException {
    write("io.penstock.cellar.Thing", type -> type.withField("any", ConstantDescs.CD_int, 0));

    assertThat(violations()).containsExactly("io.penstock.cellar.Thing is in no wing of the house");
  }

  @Test
  void noClasses_isAnErrorAndNotAPass() {
    assertThatIllegalStateException().isThrownBy(this::violations).withMessageContaining("classes must be found");
  }

  private List<String> violations() {
    return ArchitectureRules.house().violationsIn(classes);
  }

  private void write(String name, Consumer<ClassBuilder> body) throws IOException {
    ClassFile.of().buildTo(classes.resolve(name + ".class"), ClassDesc.of(name), body);
  }
}
