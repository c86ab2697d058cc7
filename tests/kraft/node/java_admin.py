"""A program that asks controllers by Kafka's own tools and AdminClient, in one JVM for all.

It reads one JSON object: `controllers` and `brokers`, each host:port, and `commands`, a list of
`[name, class, arguments]`. It writes the sentences that belong to Kafka's errors, and then a JSON
line for each question: its name, and what came of it.
"""

from __future__ import annotations

import json
import sys

import java_calls
import jpype


def main():
    library, class_path, logging = sys.argv[1:]
    jpype.startJVM(library, "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                   "-Djava.net.preferIPv4Stack=true", f"-Dlog4j2.configurationFile={logging}",
                   classpath=class_path.split(":"), convertStrings=False)  # fmt: skip
    asked = json.load(sys.stdin)
    console = _Console()
    errors = jpype.JClass("org.apache.kafka.common.protocol.Errors").values()
    _write("", [str(one.message()) for one in errors])
    with _admin("bootstrap.servers", asked["brokers"]) as brokers:
        _tell(java_calls.HISTORY, brokers)
    with _admin("bootstrap.controllers", asked["controllers"]) as controllers:
        _tell(java_calls.CALLS, controllers)
    for name, tool, arguments in asked["commands"]:
        _write(name, console.run(tool, arguments))


def _admin(key, servers):
    properties = jpype.JClass("java.util.Properties")()
    for name, value in {
        key: servers,
        "default.api.timeout.ms": "8000",
        "request.timeout.ms": "8000",
    }.items():
        properties.put(name, value)
    return jpype.JClass("org.apache.kafka.clients.admin.Admin").create(properties)


def _tell(calls, admin):
    for name, call in calls.items():
        _write(name, _outcome(lambda call=call: call(admin)))


def _write(name, answer):
    sys.stdout.write(json.dumps({"name": name, "answer": answer}) + "\n")
    sys.stdout.flush()


class _Console:
    """The standard streams of the JVM, and the ends that tools want to put to it."""

    def __init__(self):
        stream = jpype.JClass("java.io.ByteArrayOutputStream")
        printer = jpype.JClass("java.io.PrintStream")
        system = jpype.JClass("java.lang.System")
        # A Scala program keeps the stream that it finds first: the streams are set once.
        self._streams = stream(), stream()
        system.setOut(printer(self._streams[0], True))
        system.setErr(printer(self._streams[1], True))
        self._ends = []
        procedure = jpype.JProxy(
            "org.apache.kafka.common.utils.Exit$Procedure", dict={"execute": self._end}
        )
        jpype.JClass("org.apache.kafka.common.utils.Exit").setExitProcedure(procedure)

    def _end(self, status, _message):
        # What a tool prints after its end, it would not have printed.
        self._ends.append(self._answer(int(status)))
        raise jpype.java.lang.IllegalStateException("ended")

    def _answer(self, status):
        out, err = (str(one.toString()).splitlines() for one in self._streams)
        return {"status": status, "out": out, "err": err}

    def run(self, tool, arguments):
        """Return what a tool prints to both streams, and its exit status."""
        for one in self._streams:
            one.reset()
        self._ends.clear()
        try:
            jpype.JClass(tool).main(jpype.JArray(jpype.java.lang.String)(arguments))
        except jpype.JException as error:
            answer = self._answer(1)
            answer["err"].append(str(error.toString()))
        else:
            answer = self._answer(0)
        return self._ends[0] if self._ends else answer


def _outcome(call):
    try:
        return _told(call())
    except jpype.JException as error:
        return _failure(error)


def _failure(error):
    execution = jpype.JClass("java.util.concurrent.ExecutionException")
    cause = error.getCause() if isinstance(error, execution) else error
    return {"raised": str(cause.getClass().getSimpleName()), "message": _text(cause.getMessage())}


def _text(value):
    return None if value is None else str(value)


def _told(value):
    """Return a value of Java as JSON; sets and maps in an order that is the same each time."""
    future = jpype.JClass("org.apache.kafka.common.KafkaFuture")
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, future):
        return _outcome(value.get)
    if isinstance(value, jpype.JClass("java.util.Map")):
        return {str(one.getKey()): _told(one.getValue()) for one in sorted(
            value.entrySet(), key=lambda one: str(one.getKey()))}  # fmt: skip
    if isinstance(value, jpype.JClass("java.util.Collection")):
        told = [_told(one) for one in value]
        # Kafka tells entries of access control in the order of a hash table.
        is_list = isinstance(value, jpype.JClass("java.util.List"))
        if is_list and not any("AclBinding" in str(one.getClass()) for one in value):
            return told
        return {"in any order": told}
    if isinstance(value, jpype.JClass("org.apache.kafka.clients.admin.FeatureMetadata")):
        return {
            "finalized": _told(value.finalizedFeatures()),
            "supported": _told(value.supportedFeatures()),
            "has an epoch": bool(value.finalizedFeaturesEpoch().isPresent()),
        }
    if isinstance(value, jpype.JClass("org.apache.kafka.clients.admin.QuorumInfo")):
        return {
            "leader": [int(value.leaderId()), int(value.leaderEpoch())],
            "voters": _told(value.voters()),
            "observers": {"in any order": _told(value.observers())},
            "nodes": _told(value.nodes()),
        }
    if isinstance(value, jpype.JClass("org.apache.kafka.clients.admin.Config")):
        return {str(one.name()): str(one.toString()) for one in sorted(
            value.entries(), key=lambda one: str(one.name()))}  # fmt: skip
    if str(value.getClass().getName()).endswith("Result"):
        return _result(value)
    return str(value.toString())


def _result(value):
    """Return what each question of a result of AdminClient comes to."""
    answers = {}
    for method in value.getClass().getMethods():
        name = str(method.getName())
        returned = str(method.getReturnType().getSimpleName())
        if method.getParameterCount() == 0 and returned in ("KafkaFuture", "Map"):
            answers[name] = _outcome(lambda name=name: getattr(value, name)())
    return dict(sorted(answers.items()))


if __name__ == "__main__":
    main()
