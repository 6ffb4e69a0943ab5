package io.penstock.testkit;

import java.lang.classfile.AttributedElement;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.lang.classfile.constantpool.MethodTypeEntry;
import java.lang.classfile.constantpool.NameAndTypeEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/// What one class file names: classes (in code, descriptors and generic signatures) and members it calls.
/// Names are binary and dotted, for instance `java.util.Map$Entry`.
record ClassReferences(String name, Set<String> classes, Set<Member> members) {
  private static final Pattern IN_DESCRIPTOR = Pattern.compile("L([\\w$]+(?:/[\\w$]+)+)[;<]");

  /// A method or field that is used: its owner, its name and its descriptor.
  record Member(String owner, String name, String descriptor) implements Comparable<Member> {
    static Member of(MemberRefEntry used) {
      return new Member(
          dotted(used.owner().asInternalName()), used.name().stringValue(), used.type().stringValue());
    }

    @Override
    public int compareTo(Member other) {
      return toString().compareTo(other.toString());
    }

    @Override
    public String toString() {
      return owner + "." + name + descriptor;
    }
  }

  static ClassReferences of(ClassModel model) {
    Set<String> classes = new TreeSet<>();
    Set<Member> members = new TreeSet<>();
    for (PoolEntry entry : model.constantPool()) {
      switch (entry) {
        case ClassEntry used -> addName(used.name(), classes);
        case NameAndTypeEntry used -> addDescriptor(used.type(), classes);
        case MethodTypeEntry used -> addDescriptor(used.descriptor(), classes);
        case MemberRefEntry used -> members.add(Member.of(used));
        default -> {
        }
      }
    }
    model.fields().forEach(field -> addDescriptor(field.fieldType(), classes));
    model.methods().forEach(method -> addDescriptor(method.methodType(), classes));
    model.fields().forEach(field -> addSignature(field, classes));
    model.methods().forEach(method -> addSignature(method, classes));
    addSignature(model, classes);
    return new ClassReferences(dotted(model.thisClass().asInternalName()), classes, members);
  }

  private static void addSignature(AttributedElement element, Set<String> to) {
    element
        .findAttribute(Attributes.signature())
        .ifPresent(signature -> addDescriptor(signature.signature(), to));
    element
        .findAttribute(Attributes.runtimeVisibleAnnotations())
        .ifPresent(all -> all.annotations().forEach(annotation -> addDescriptor(annotation.className(), to)));
  }

  private static void addName(Utf8Entry name, Set<String> to) {
    if (name.stringValue().startsWith("[")) {
      addDescriptor(name, to);
    } else {
      to.add(dotted(name.stringValue()));
    }
  }

  private static void addDescriptor(Utf8Entry descriptor, Set<String> to) {
    IN_DESCRIPTOR.matcher(descriptor.stringValue()).results().forEach(found -> to.add(dotted(found.group(1))));
  }

  private static String dotted(String internalName) {
    return internalName.replace('/', '.');
  }
}
